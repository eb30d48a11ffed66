package io.railhead.cache;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of a discovery for one participant.
 *
 * @param metadata null if it failed
 * @param own whether it was started by this call: then the answer is as new as the call
 */
public record Discovery(@Nullable ObjectMetadata metadata, boolean own) {}
