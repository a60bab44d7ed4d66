"""What differs from the rest: of rows, column by column; of lines, by their templates. Linear in the size of the answer."""
