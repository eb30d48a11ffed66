package io.railhead.backend.aws;

import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpService;
import software.amazon.awssdk.http.urlconnection.ProxyConfiguration;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;

/**
 * The HTTP client by which the SDK's providers of credentials ask STS: without the proxies that
 * environment and system properties name. The SDK makes it by its name.
 */
public final class DirectHttpService implements SdkHttpService {

    /** Before the first provider is made: it keeps the client that it begins with. */
    static void install() {
        System.setProperty("software.amazon.awssdk.http.service.impl",
                DirectHttpService.class.getName());
    }

    @Override
    public SdkHttpClient.Builder<?> createHttpClientBuilder() {
        return UrlConnectionHttpClient.builder()
                .proxyConfiguration(ProxyConfiguration.builder()
                        .useSystemPropertyValues(false)
                        .useEnvironmentVariablesValues(false)
                        .build());
    }
}
