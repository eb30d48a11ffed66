/** What the fabrics over RDMA adapters share: a device, its poller, and their accounts. */
@NullMarked
package io.railhead.rdma.adapter;

import org.jspecify.annotations.NullMarked;
