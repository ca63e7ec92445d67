"""Layers of networks on the CPU by code of our own, which is compiled once per machine."""
