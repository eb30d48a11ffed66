"""Adapters for other people's engines: of KV caches, and of checkpoints. Each needs its engine, and is imported by it."""
