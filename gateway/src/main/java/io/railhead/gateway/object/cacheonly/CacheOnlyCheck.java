package io.railhead.gateway.object.cacheonly;

import io.railhead.backend.Backend;
import io.railhead.backend.BackendRequest;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodyDrain;
import io.railhead.backend.Caller;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Target;
import java.io.ByteArrayInputStream;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for cache-only buckets among those of a store, by one ListBuckets. An object must not look
 * as safe as the bucket of its name. Only buckets that the caller sees are found.
 */
public final class CacheOnlyCheck {
    private static final Logger LOG = LoggerFactory.getLogger(CacheOnlyCheck.class);
    private static final int MAX_DOCUMENT_BYTES = 16 << 20;
    private static final XMLInputFactory XML = factory();

    private CacheOnlyCheck() {}

    private static XMLInputFactory factory() {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        return factory;
    }

    /**
     * Returns the store's buckets that the caller sees; empty, with a line in the log, on failure.
     * The stage completes on a thread of its own, off event loops and stores' threads.
     */
    public static CompletionStage<Optional<Set<String>>> bucketsOf(Backend store, Caller caller) {
        return store.send(new BackendRequest("GET", new Target(null, "", null), Headers.NONE,
                new Payload.Empty(), caller, null))
                .thenCompose(CacheOnlyCheck::read)
                .thenApplyAsync(document -> Optional.of(names(document)),
                        Thread::startVirtualThread)
                .exceptionallyAsync(failure -> {
                    LOG.warn("durability: none: it is not known whether store {} has such buckets:"
                            + " {}", store.name(), failure.getMessage());
                    return Optional.empty();
                }, Thread::startVirtualThread);
    }

    private static CompletionStage<byte[]> read(BackendResponse answer) {
        if (answer.status() != 200) {
            BodyDrain.discard(answer.body());
            return CompletableFuture.failedStage(
                    new IllegalStateException("ListBuckets was answered " + answer.status()));
        }
        return BodyDrain.collect(answer.body(), MAX_DOCUMENT_BYTES);
    }

    static Set<String> names(byte[] document) {
        Set<String> names = new HashSet<>();
        try {
            XMLStreamReader reader = XML.createXMLStreamReader(new ByteArrayInputStream(document));
            while (reader.hasNext()) {
                reader.next();
                if (reader.isStartElement() && reader.getLocalName().equals("Name")) {
                    names.add(reader.getElementText());
                }
            }
            return names;
        } catch (XMLStreamException e) {
            throw new IllegalStateException("the list of buckets cannot be read", e);
        }
    }
}
