package io.railhead.cache;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of a discovery for one participant.
 *
 * @param metadata null if it failed
 * @param own true if this call started it: then the result is as new as the call
 */
public record Discovery(@Nullable ObjectMetadata metadata, boolean own) {}
