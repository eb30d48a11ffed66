package io.railhead.client;

import java.io.IOException;

/** An upload that failed with its cause's message; the same call continues it. */
public final class UnfinishedUploadException extends IOException {
    private static final long serialVersionUID = 1L;

    UnfinishedUploadException(IOException cause) {
        super(cause.getMessage(), cause);
    }
}
