"""The protection engine: values in, values out. It uses no asyncio, clock, environment, logging or network."""
