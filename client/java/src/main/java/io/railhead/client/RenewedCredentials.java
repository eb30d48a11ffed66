package io.railhead.client;

import java.util.function.Supplier;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;

/**
 * A provider of credentials that can begin again: the SDK's providers keep credentials until these
 * end, and cannot be told that a gateway takes them no more. Any thread.
 */
final class RenewedCredentials implements AwsCredentialsProvider {
    private final Supplier<AwsCredentialsProvider> provider;
    private volatile AwsCredentialsProvider source;

    RenewedCredentials(Supplier<AwsCredentialsProvider> provider) {
        this.provider = provider;
        source = provider.get();
    }

    AwsCredentialsProvider source() {
        return source;
    }

    /** Replaces the source, unless another caller has done so. */
    synchronized void beginAgain(AwsCredentialsProvider seen) {
        if (source.equals(seen)) {
            source = provider.get();
        }
    }

    @Override
    public AwsCredentials resolveCredentials() {
        return source.resolveCredentials();
    }
}
