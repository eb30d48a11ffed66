package io.railhead.cache;

import org.jspecify.annotations.Nullable;

/**
 * How a discovery ended for one who took part.
 *
 * @param metadata null if it failed
 * @param own whether it was started by this call: then the answer is as new as the call
 */
public record Discovery(@Nullable ObjectMetadata metadata, boolean own) {}
