/** Opening of RDMA sessions over HTTP, and the directory of fabrics. */
@NullMarked
package io.railhead.gateway.rdma.session;

import org.jspecify.annotations.NullMarked;
