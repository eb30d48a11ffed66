package io.railhead.gateway.identity;

import org.jspecify.annotations.Nullable;

/** A key pair that a client signs with. */
public record AccessKey(String id, Secret secret, @Nullable Secret sessionToken) {}
