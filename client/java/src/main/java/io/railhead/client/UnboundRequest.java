package io.railhead.client;

import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.channel.RequestWindow;
import java.util.ArrayList;
import java.util.List;

/**
 * A request that has no session yet.
 *
 * @param request its id and its buffer's key are ignored, and it lists no windows
 * @param windows the memory for its bytes, in their order; empty for requests that move none
 */
public record UnboundRequest(Request request, List<Window> windows) {

    public UnboundRequest {
        windows = List.copyOf(windows);
    }

    UnboundRequest(Request request, Window window) {
        this(request, List.of(window));
    }

    /** Returns whether the request may be performed twice. */
    boolean isRepeatable() {
        return request.operation() != RequestOperation.PUT;
    }

    /** @param bufferKeys of the windows, in their order */
    Request with(List<Integer> bufferKeys) {
        boolean isList = windows.size() > 1;
        boolean isOne = windows.size() == 1;
        return new Request(0, request.operation(), request.range(),
                isOne ? bufferKeys.getFirst() : 0, isOne ? windows.getFirst().offset() : 0,
                request.window(), request.partNumber(), request.bucket(), request.key(),
                request.versionId(), request.ifMatch(), request.uploadId(), request.headers(),
                request.keys(), isList ? listed(bufferKeys) : List.of());
    }

    private List<RequestWindow> listed(List<Integer> bufferKeys) {
        List<RequestWindow> listed = new ArrayList<>(windows.size());
        for (int i = 0; i < windows.size(); i++) {
            Window window = windows.get(i);
            listed.add(new RequestWindow(bufferKeys.get(i), window.offset(), window.length()));
        }
        return listed;
    }
}
