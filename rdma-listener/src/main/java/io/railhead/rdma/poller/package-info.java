/** Pollers of completion queues, and the budgets that their send queues share. */
@NullMarked
package io.railhead.rdma.poller;

import org.jspecify.annotations.NullMarked;
