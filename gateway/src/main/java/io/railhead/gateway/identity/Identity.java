package io.railhead.gateway.identity;

/** A principal, by the one of its keys that was used. */
public record Identity(Principal principal, AccessKey key) {}
