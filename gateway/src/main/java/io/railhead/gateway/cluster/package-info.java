/** One cache of several gateways: what this gateway's cache tells the others, and hears of them. */
@NullMarked
package io.railhead.gateway.cluster;

import org.jspecify.annotations.NullMarked;
