/**
 * AWS's Security Token Service, as far as clients need it: tokens become short-lived credentials.
 */
@org.jspecify.annotations.NullMarked
package io.railhead.gateway.sts;
