/**
 * The gateway's end of the native channel: requests under way, and the handler that serves them.
 */
@NullMarked
package io.railhead.rdma.channel;

import org.jspecify.annotations.NullMarked;
