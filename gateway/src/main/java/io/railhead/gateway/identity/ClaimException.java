package io.railhead.gateway.identity;

/** A token's claims do not satisfy a role; the message names the claim, never its value. */
public final class ClaimException extends Exception {
    private static final long serialVersionUID = 1L;

    public ClaimException(String message) {
        super(message);
    }
}
