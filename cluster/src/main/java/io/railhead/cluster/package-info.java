/**
 * Gateways that are one cache: membership, changes that every member acknowledges, and the lease
 * under which a member serves without asking a store. Knows no cache and no HTTP.
 */
@NullMarked
package io.railhead.cluster;

import org.jspecify.annotations.NullMarked;
