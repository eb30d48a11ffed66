"""Adapters that let inference engines keep their KV cache at a gateway. Each needs its engine, and is imported by it."""
