/** Opened RDMA adapters: registered memory, queue pairs and their states, and rdma_cm's events. */
@NullMarked
package io.railhead.os.adapter;

import org.jspecify.annotations.NullMarked;
