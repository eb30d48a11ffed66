/** What each tenant asked for in each bucket, and what the stores were asked for it. */
@NullMarked
package io.railhead.gateway.accounting;

import org.jspecify.annotations.NullMarked;
