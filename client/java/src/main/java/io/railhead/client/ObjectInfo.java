package io.railhead.client;

/**
 * An object as a store describes it.
 *
 * @param etag as received, quotes included
 */
public record ObjectInfo(ObjectName name, long bytes, String etag) {}
