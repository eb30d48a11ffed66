package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.cli.Sizes;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Discards one pending write. */
@Command(name = "discard", description = "Discard one pending object or open upload for good. The store never gets it, though its writer was told that it is safe: export it first.")
final class DiscardCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Mixin
    private PendingArgument write = new PendingArgument();

    @Override
    public Integer call() throws IOException {
        admin.call("discard", write.body(), this::show);
        return 0;
    }

    private void show(JsonNode lost) {
        String etag = lost.path("etag").asText();
        admin.print("discarded: s3://" + lost.path("bucket").asText() + "/"
                + lost.path("key").asText() + ", " + Sizes.exact(lost.path("bytes").asLong())
                + (etag.isEmpty() ? ", an open upload" : ", ETag " + etag) + ", which "
                + PendingCommand.shown(lost.path("principal").asText()) + " wrote at "
                + lost.path("since").asText());
        String left = lost.path("store_upload").asText();
        if (!left.isEmpty()) {
            admin.print("the store may still have the multipart upload " + left + ": abort it"
                    + " there");
        }
    }
}
