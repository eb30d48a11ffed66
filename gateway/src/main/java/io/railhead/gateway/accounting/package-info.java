/** Counts of each tenant's requests by bucket, and of the stores' work for them. */
@NullMarked
package io.railhead.gateway.accounting;

import org.jspecify.annotations.NullMarked;
