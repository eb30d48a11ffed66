package io.railhead.client;

/**
 * One line of a listing.
 *
 * @param lastModified as the store wrote it, ISO 8601
 */
public record ListedObject(String key, long bytes, String lastModified) {}
