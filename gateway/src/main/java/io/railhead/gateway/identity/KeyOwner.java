package io.railhead.gateway.identity;

/**
 * Whom an access key was made for, whether or not it still serves.
 *
 * @param tenant "" if nobody knows it any more
 * @param session the id of the role session; "" for a key of the file
 */
public record KeyOwner(String principal, String tenant, String session) {}
