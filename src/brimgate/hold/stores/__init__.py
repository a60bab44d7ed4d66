"""Stores for held answers. One contract, one test suite for every store."""
