/** Authentication: SigV4 verification, request bodies, {@code credentials.yaml}. */
@NullMarked
package io.railhead.gateway.auth;

import org.jspecify.annotations.NullMarked;
