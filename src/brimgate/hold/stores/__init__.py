"""Where held answers wait for their readers. One contract, one test suite for every store."""
