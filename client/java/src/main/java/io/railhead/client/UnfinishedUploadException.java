package io.railhead.client;

import java.io.IOException;

/** An upload that broke off, for its cause's reason; the same call goes on with it. */
public final class UnfinishedUploadException extends IOException {
    private static final long serialVersionUID = 1L;

    UnfinishedUploadException(IOException cause) {
        super(cause.getMessage(), cause);
    }
}
