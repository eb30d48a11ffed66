/**
 * The gateway's sessions: their clients, their registered buffers, and their ends.
 */
@NullMarked
package io.railhead.rdma.session;

import org.jspecify.annotations.NullMarked;
