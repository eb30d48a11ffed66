/**
 * Sessions: their proof of an access key, their buffers, and the messages that open them.
 */
@NullMarked
package io.railhead.rdma.session;

import org.jspecify.annotations.NullMarked;
