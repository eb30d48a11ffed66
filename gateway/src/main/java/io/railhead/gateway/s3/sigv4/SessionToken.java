package io.railhead.gateway.s3.sigv4;

/**
 * A session token as the request has it.
 *
 * @param isCanonical true if it has visible ASCII characters alone, so that the signature covers it
 *            as it stands
 */
record SessionToken(String text, boolean isCanonical) {

    static SessionToken of(String text) {
        return new SessionToken(text, isVisibleAscii(text));
    }

    private static boolean isVisibleAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) <= ' ' || text.charAt(i) >= 0x7F) {
                return false;
            }
        }
        return true;
    }

    /** Omits the token. */
    @Override
    public String toString() {
        return "SessionToken[]";
    }
}
