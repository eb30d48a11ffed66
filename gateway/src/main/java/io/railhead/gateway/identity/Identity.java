package io.railhead.gateway.identity;

/** A principal, with the key that was used. */
public record Identity(Principal principal, AccessKey key) {}
