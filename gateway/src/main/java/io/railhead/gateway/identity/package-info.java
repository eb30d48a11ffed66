/** Identities: principals, their keys, and {@code credentials.yaml}. */
@NullMarked
package io.railhead.gateway.identity;

import org.jspecify.annotations.NullMarked;
