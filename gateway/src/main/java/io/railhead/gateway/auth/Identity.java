package io.railhead.gateway.auth;

/** A principal, by the one of its keys that was used. */
public record Identity(Principal principal, AccessKey key) {}
