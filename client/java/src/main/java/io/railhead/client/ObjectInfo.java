package io.railhead.client;

/**
 * What a store says about an object.
 *
 * @param etag as received, quotes included
 */
public record ObjectInfo(ObjectName name, long bytes, String etag) {}
