package io.railhead.cli;

import static java.util.Objects.requireNonNull;

import io.railhead.client.UnfinishedUploadException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** A failure as users see it: one line, no stack. */
public final class OneLine {
    private OneLine() {}

    public static String of(Throwable failure) {
        String message = switch (failure) {
            case UnfinishedUploadException e -> of(requireNonNull(e.getCause()))
                    + "; what was sent is kept: the same command goes on with it";
            case NoSuchFileException e -> "no such file: " + e.getFile();
            case AccessDeniedException e -> "permission denied: " + e.getFile();
            case FileSystemException e -> String.valueOf(e.getMessage());
            case ConnectException e -> "cannot connect: " + e.getMessage();
            case UnknownHostException e -> "unknown host: " + e.getMessage();
            case SocketTimeoutException e -> "timed out: " + e.getMessage();
            default -> failure.getMessage() == null || failure.getMessage().isBlank()
                    ? failure.getClass().getSimpleName()
                    : failure.getMessage();
        };
        return of(message);
    }

    static String of(String message) {
        return String.join(" ", message.lines().map(String::strip).toList());
    }
}
