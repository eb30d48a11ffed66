/** The fault bench: a store that remembers its history, and a proxy that fails as stores do. */
@org.jspecify.annotations.NullMarked
package io.railhead.gateway.trust;
