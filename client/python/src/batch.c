/*
 * What _whole.py has done in C, for speed alone: reads are made librailhead's requests, and its completions what a program gets.
 *
 * Called through ctypes.PyDLL, so Python's lock is held, and what is raised here is raised there. Python's functions are declared
 * below, as every Python since 3.10 has them: one build is for all, and its headers need not be there.
 */
#include <railhead/railhead.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct _object PyObject;
typedef intptr_t Py_ssize_t;
typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len;
    Py_ssize_t itemsize;
    int readonly;
    int ndim;
    char *format;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    Py_ssize_t *suboffsets;
    void *internal;
} Py_buffer;
enum { PYBUF_WRITABLE = 1, PYBUF_FORMAT = 4, PYBUF_ND = 8 };

extern PyObject *PyExc_Exception, _Py_NoneStruct;
void Py_IncRef(PyObject *object);
void Py_DecRef(PyObject *object);
PyObject *PyErr_Occurred(void);
int PyErr_ExceptionMatches(PyObject *kind);
void PyErr_Clear(void);
PyObject *PyErr_NoMemory(void);
int PyObject_GetBuffer(PyObject *object, Py_buffer *into, int flags);
void PyBuffer_Release(Py_buffer *buffer);
PyObject *PyObject_CallFunctionObjArgs(PyObject *function, ...);
PyObject *PyCapsule_New(void *pointer, const char *name, void (*end)(PyObject *));
void *PyCapsule_GetPointer(PyObject *capsule, const char *name);
Py_ssize_t PySequence_Size(PyObject *sequence);
PyObject *PySequence_GetItem(PyObject *sequence, Py_ssize_t at);
int PySequence_SetItem(PyObject *sequence, Py_ssize_t at, PyObject *value);
PyObject *PyTuple_New(Py_ssize_t count);
int PyTuple_SetItem(PyObject *tuple, Py_ssize_t at, PyObject *value); /* takes the value's reference */
PyObject *PyList_New(Py_ssize_t count);
int PyList_Append(PyObject *list, PyObject *value);
int PySet_Discard(PyObject *set, PyObject *value);
PyObject *PyNumber_Index(PyObject *number);
PyObject *PyLong_FromUnsignedLongLong(unsigned long long value);
long long PyLong_AsLongLong(PyObject *number);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *number);
const char *PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *bytes);
PyObject *PyUnicode_DecodeUTF8(const char *text, Py_ssize_t bytes, const char *errors);

enum { BUCKET_ROOM = 256 };
/* Of a read's places, and of a View's: length, and the GPU's number. */
enum { LAST = 3 };

/* Registered memory of one session, by its first address, as Regions.table packs it; `reach`: the last end of it and all before. */
struct region {
    uint64_t start, end, reach, buffer;
    int64_t cuda; /* -1: the host's */
};

/* What a read's window lies in, and the texts of its request: they stay as long as this does. */
struct window {
    Py_buffer bytes;
    PyObject *view, *url;
    char bucket[BUCKET_ROOM];
};
struct windows {
    size_t count;
    struct window each[];
};

/* Of what is done for one read. */
enum outcome { RAISED = -1, NEEDS_A_PLAN = 0, DONE = 1 };

static void free_windows(PyObject *capsule) {
    struct windows *windows = PyCapsule_GetPointer(capsule, NULL);
    for (size_t i = 0; i < windows->count; i++) {
        struct window *window = &windows->each[i];
        if (window->bytes.obj) {
            PyBuffer_Release(&window->bytes);
        }
        Py_DecRef(window->view);
        Py_DecRef(window->url);
    }
    free(windows);
}

/* After an error: who plans finds it again, and raises it as it should be; but an interrupt comes once. */
static enum outcome needs_a_plan(void) {
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) {
        return RAISED;
    }
    PyErr_Clear();
    return NEEDS_A_PLAN;
}

static enum outcome number(PyObject *object, int64_t *value) {
    PyObject *index = PyNumber_Index(object);
    *value = index ? PyLong_AsLongLong(index) : -1;
    Py_DecRef(index);
    return *value < 0 ? needs_a_plan() : DONE;
}

/* The read's number at `at`, which stays what it is where there is none; the last may be None. */
static enum outcome number_of(PyObject *read, Py_ssize_t at, Py_ssize_t size, int64_t *value) {
    PyObject *object = at < size ? PySequence_GetItem(read, at) : NULL;
    enum outcome outcome = DONE;
    if (object && !(object == &_Py_NoneStruct && at == LAST)) {
        outcome = number(object, value);
    }
    Py_DecRef(object);
    return at < size && !object ? needs_a_plan() : outcome;
}

static enum outcome name(struct window *window, railhead_request *request) {
    Py_ssize_t bytes;
    const char *url = PyUnicode_AsUTF8AndSize(window->url, &bytes);
    if (!url) {
        return needs_a_plan();
    }
    const char *mark = strstr(url, "://");
    size_t scheme = mark ? (size_t)(mark - url) : 0;
    bool is_ours = (scheme == 2 && memcmp(url, "s3", 2) == 0) || (scheme == 8 && memcmp(url, "railhead", 8) == 0);
    const char *bucket = is_ours ? mark + 3 : NULL, *slash = bucket ? strchr(bucket, '/') : NULL;
    if (!slash || slash == bucket || slash - bucket >= BUCKET_ROOM || !slash[1] || strlen(url) != (size_t)bytes) {
        return NEEDS_A_PLAN;
    }
    memcpy(window->bucket, bucket, (size_t)(slash - bucket));
    request->bucket = window->bucket;
    request->key = slash + 1;
    return DONE;
}

/* Of what has no buffer of Python's, or one that has to be looked into: the tuple View that `view` makes. */
static enum outcome view_of(struct window *window, PyObject *buffer, PyObject *view, int64_t memory[3]) {
    window->view = PyObject_CallFunctionObjArgs(view, buffer, NULL);
    if (!window->view) {
        return needs_a_plan();
    }
    memory[2] = -1;
    for (int i = 0, at[] = {0, 1, LAST}; i < 3; i++) {
        enum outcome outcome = number_of(window->view, at[i], 4, &memory[i]);
        if (outcome != DONE) {
            return outcome;
        }
    }
    return DONE;
}

/* Where the read's bytes go: address, length, and the GPU's number. */
static enum outcome memory_of(struct window *window, PyObject *buffer, PyObject *view, int64_t memory[3]) {
    if (PyObject_GetBuffer(buffer, &window->bytes, PYBUF_WRITABLE | PYBUF_FORMAT | PYBUF_ND) != 0) {
        window->bytes.obj = NULL;
        enum outcome outcome = needs_a_plan();
        return outcome == RAISED ? RAISED : view_of(window, buffer, view, memory);
    }
    if (window->bytes.format && strchr(window->bytes.format, 'O')) {
        return view_of(window, buffer, view, memory);
    }
    memory[0] = (int64_t)(uintptr_t)window->bytes.buf;
    memory[1] = window->bytes.len;
    memory[2] = -1;
    return DONE;
}

static const struct region *around(const struct region *regions, size_t count, uint64_t start, uint64_t end, int64_t cuda) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (regions[middle].start <= start) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    while (low > 0 && regions[low - 1].reach >= end) {
        const struct region *region = &regions[--low];
        if (region->end >= end && region->cuda == cuda) {
            return region;
        }
    }
    return NULL;
}

static enum outcome describe(PyObject *read, PyObject *view, const struct region *regions, size_t region_count, uint64_t most,
                             struct window *window, railhead_request *request) {
    int64_t start = 0, length = INT64_MAX, memory[3];
    enum outcome outcome;
    Py_ssize_t size = PySequence_Size(read);
    PyObject *buffer = NULL;
    if (size < 2 || size > 4 || !(window->url = PySequence_GetItem(read, 0)) || !(buffer = PySequence_GetItem(read, 1))) {
        return needs_a_plan();
    }
    outcome = memory_of(window, buffer, view, memory);
    Py_DecRef(buffer);
    if (outcome != DONE || (outcome = number_of(read, 2, size, &start)) != DONE
        || (outcome = number_of(read, LAST, size, &length)) != DONE || (outcome = name(window, request)) != DONE) {
        return outcome;
    }
    uint64_t address = (uint64_t)memory[0], bytes = (uint64_t)(memory[1] < length ? memory[1] : length);
    const struct region *region = around(regions, region_count, address, address + bytes, memory[2]);
    if (!region || bytes == 0 || bytes > most) {
        return NEEDS_A_PLAN;
    }
    request->operation = RAILHEAD_GET;
    request->buffer = (railhead_buffer *)(uintptr_t)region->buffer;
    request->offset = address - region->start;
    request->window = bytes;
    if (start > 0) {
        request->flags = RAILHEAD_RANGE;
        request->range_first = (uint64_t)start;
        request->range_last = (uint64_t)start + bytes - 1;
    }
    return DONE;
}

/*
 * Of `count` reads, (url, buffer, start, length) each, of which the last two need not be there, the requests, numbered from `user`
 * on: a capsule that keeps what they refer to; None where one of the reads needs a plan. `most`: bytes of one request.
 */
__attribute__((visibility("default"))) PyObject *railhead_describe(PyObject *reads, size_t count, PyObject *view,
                                                                   const struct region *regions, size_t region_count, uint64_t most,
                                                                   uint64_t user, railhead_request *requests) {
    struct windows *windows = calloc(1, sizeof *windows + count * sizeof *windows->each);
    PyObject *capsule = windows ? PyCapsule_New(windows, NULL, free_windows) : PyErr_NoMemory();
    if (!capsule) {
        free(windows);
        return NULL;
    }
    windows->count = count;
    enum outcome outcome = DONE;
    for (size_t i = 0; i < count && outcome == DONE; i++) {
        PyObject *read = PySequence_GetItem(reads, (Py_ssize_t)i);
        requests[i].user = user + i;
        outcome = read ? describe(read, view, regions, region_count, most, &windows->each[i], &requests[i]) : needs_a_plan();
        Py_DecRef(read);
    }
    if (outcome == DONE) {
        return capsule;
    }
    Py_DecRef(capsule);
    if (outcome == RAISED) {
        return NULL;
    }
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
}

static bool is_whole(const railhead_completion *completion, const railhead_request *request) {
    uint64_t size = completion->object_bytes, start = request->range_first;
    uint64_t left = size > start ? size - start : 0;
    return completion->result == RAILHEAD_OK && !(completion->flags & RAILHEAD_WINDOW_HELD)
           && completion->bytes == (left < request->window ? left : request->window);
}

/* `make` of the tuple that a Got is made of. */
static PyObject *got(const railhead_completion *completion, PyObject *make, PyObject *via, PyObject *caches) {
    PyObject *fields = PyTuple_New(5), *made = NULL;
    PyObject *values[] = {PyLong_FromUnsignedLongLong(completion->bytes), PyLong_FromUnsignedLongLong(completion->object_bytes),
                          PyUnicode_DecodeUTF8(completion->etag, (Py_ssize_t)strlen(completion->etag), "replace"), via,
                          PySequence_GetItem(caches, completion->cache)};
    bool is_made = fields != NULL;
    Py_IncRef(via);
    for (int i = 0; i < 5; i++) {
        is_made &= values[i] != NULL;
        if (fields) {
            PyTuple_SetItem(fields, i, values[i]);
        } else {
            Py_DecRef(values[i]);
        }
    }
    if (is_made) {
        made = PyObject_CallFunctionObjArgs(make, fields, NULL);
    }
    Py_DecRef(fields);
    return made;
}

static bool finish(PyObject *done, PyObject *left, uint64_t at, PyObject *made) {
    PyObject *place = PyLong_FromUnsignedLongLong(at);
    bool is_finished = made && place && PySequence_SetItem(done, (Py_ssize_t)at, made) == 0 && PySet_Discard(left, place) >= 0;
    Py_DecRef(place);
    Py_DecRef(made);
    return is_finished;
}

static bool append(PyObject *list, uint64_t value) {
    PyObject *number = PyLong_FromUnsignedLongLong(value);
    bool is_appended = number && PyList_Append(list, number) == 0;
    Py_DecRef(number);
    return is_appended;
}

/*
 * Of `count` completions those of the batch whose requests are numbered from `user` on. What has come as it should is in `done`
 * afterwards, and not `left` any more; the places among the completions of what has not are in the list returned.
 */
__attribute__((visibility("default"))) PyObject *railhead_came(const railhead_completion *completions, size_t count, uint64_t user,
                                                               const railhead_request *requests, PyObject *make, PyObject *via,
                                                               PyObject *caches, PyObject *done, PyObject *left) {
    Py_ssize_t size = PySequence_Size(done);
    PyObject *troubles = PyList_New(0);
    for (size_t i = 0; i < count && troubles; i++) {
        uint64_t at = completions[i].user - user;
        if (at >= (uint64_t)size) {
            continue;
        }
        bool is_kept = is_whole(&completions[i], &requests[at]) ? finish(done, left, at, got(&completions[i], make, via, caches))
                                                                : append(troubles, i);
        if (!is_kept) {
            Py_DecRef(troubles);
            troubles = NULL;
        }
    }
    return troubles;
}
