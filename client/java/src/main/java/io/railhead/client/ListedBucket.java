package io.railhead.client;

/**
 * A bucket that the caller may see.
 *
 * @param created as the store wrote it, ISO 8601; empty if the store does not tell
 */
public record ListedBucket(String name, String created) {}
