/** The gateway's sessions: clients, registered buffers, and ends. */
@NullMarked
package io.railhead.rdma.session;

import org.jspecify.annotations.NullMarked;
