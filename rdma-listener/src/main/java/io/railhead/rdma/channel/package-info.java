/**
 * The native request channel: requests and their answers as records of bytes, and who serves them.
 */
@NullMarked
package io.railhead.rdma.channel;

import org.jspecify.annotations.NullMarked;
