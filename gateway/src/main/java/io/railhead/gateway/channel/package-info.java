/**
 * Requests over the native channel: hits on the channel's own thread, all others by the operations
 * that serve HTTP requests.
 */
@NullMarked
package io.railhead.gateway.channel;

import org.jspecify.annotations.NullMarked;
