/** The headers of clients that bring a reliable-connection queue pair of their own. */
@NullMarked
package io.railhead.rdma.dialect.rc;

import org.jspecify.annotations.NullMarked;
