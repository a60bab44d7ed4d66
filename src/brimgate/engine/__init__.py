"""The protection engine: values in, values out. No asyncio, clock, environment, logging or network."""
