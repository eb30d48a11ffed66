/** Queue pairs whose ends are exchanged over HTTP, for clients that do not speak rdma_cm. */
@NullMarked
package io.railhead.rdma.pairing;

import org.jspecify.annotations.NullMarked;
