package io.railhead.backend;

/**
 * The store's response: headers now, the body on demand.
 *
 * @param body must be read exactly once (and may be cancelled at once), or the connection is held.
 *            Fails with {@link BackendException} if the body is cut off or stalls.
 */
public record BackendResponse(int status, Headers headers, Body body) {

    public boolean isSuccess() {
        return status >= 200 && status < 300;
    }
}
