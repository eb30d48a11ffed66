/** The common part of the fabrics over RDMA adapters: a device, its poller, and their accounts. */
@NullMarked
package io.railhead.rdma.adapter;

import org.jspecify.annotations.NullMarked;
