/* Launches that are known: what `dispatch.launch` does for them in Python, in a tenth of its time.

   `tileas_xdsl.runtime.cutile.native` builds this file with the system's C compiler.  Python keeps
   the rules: it compiles, plans, encodes tensor maps and raises.  This file holds launches that
   Python has made once, by a key that tells apart at least what Python's key does
   (`argument_keys.py`), and makes them again.  Whatever it does not know it leaves to Python.

       Launcher(constants, readers, streams, max_blocks)
           constants    by parameter, whether it is a constant
           readers      by type of array, a capsule `dlpack_exchange_api`, or None for "by Python"
           streams      by type of stream, the function that returns its handle
       launcher(stream, grid, args, dependent)
           True: launched.  None: not known, so `add` it.  False: left to Python.
       launcher.add(args, dependent, launch)
           Keep a `Launch` for arguments like these, or None for "by Python".  One that is for its
           grid alone, or for its stream, is kept beside those of others.

       Launch(config, function, enqueue, ctas, (least, most), grid, of_stream, capturing, block,
              numbers, maps, owner)
           config       bytes of a CUlaunchConfig, whose grid and stream each launch writes
           function     the CUfunction
           enqueue      the address of cuLaunchKernelEx
           ctas         CTAs of a tile block; 0: all CTAs are those of `config`, for `grid` alone
           least, most  a grid of so many tile blocks, or any number between, is not left to Python
           grid         the one (x, y, z) with fewer or more that is not either
           of_stream    whether it is for the stream of `config` alone, whose memory CTAs have
           capturing    the address of cuStreamIsCapturing where captures are left to Python, else 0
           block        bytes of the parameters, with those that never change
           numbers      (offset, index among the values, format of `struct`) of those that change
           maps         (offset, index of its array, {address: 128 bytes}) of tensor maps
           owner        what must stay alive: the plan

   The interpreter's lock is held throughout, so that threads do not mix their parameters.

   Sources: CUDA driver API (CUlaunchConfig, cuLaunchKernelEx, CU_LAUNCH_PARAM_BUFFER_POINTER);
   DLPack 1.3 (DLTensor, DLPackExchangeAPI); Python/C API of CPython 3.11 to 3.13. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(Py_GIL_DISABLED) || !PY_LITTLE_ENDIAN
#error "launches rely on the interpreter's lock, and on the byte order of GPUs"
#endif

/* ---- DLPack: a tensor read without Python ---- */

typedef struct {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;

typedef int (*ReadTensor)(void *tensor, DLTensor *found);

typedef struct {
    uint32_t major, minor;
    void *previous;
    void *allocate, *to_managed, *from_managed;
    ReadTensor read; /* NULL where a library has none */
    void *current_stream;
} ExchangeApi;

/* ---- The driver ---- */

typedef struct {
    uint32_t grid[3], threads[3], shared;
    uint64_t stream;
    void *attributes;
    uint32_t attribute_count;
} Config;

typedef int (*Enqueue)(Config *config, void *function, void **parameters, void **extra);
typedef int (*IsCapturing)(void *stream, int *status);

#define POINTER ((void *)1) /* CU_LAUNCH_PARAM_BUFFER_POINTER */
#define SIZE ((void *)2)    /* CU_LAUNCH_PARAM_BUFFER_SIZE */
#define TENSOR_MAP_BYTES 128

/* ---- What arguments are ---- */

#define MAX_VALUES 64
#define MAX_KEY 2048
#define MAX_LAUNCHES 1024
#define ALIGNMENT_MASK 15

typedef struct {
    enum { INTEGER, FLOAT } kind; /* addresses are integers */
    int64_t integer;
    double real;
} Value;

typedef struct {
    size_t size;
    char bytes[MAX_KEY];
    int count;
    Value values[MAX_VALUES];
} Arguments;

static int put(Arguments *found, const void *data, size_t size)
{
    if (size > MAX_KEY - found->size)
        return 0;
    memcpy(found->bytes + found->size, data, size);
    found->size += size;
    return 1;
}

static int add_value(Arguments *found, Value value)
{
    if (found->count == MAX_VALUES)
        return 0;
    found->values[found->count++] = value;
    return 1;
}

/* ---- Launch: one plan's memory ---- */

typedef struct {
    Py_ssize_t offset;
    int index;
    char format;    /* of a number */
    PyObject *maps; /* of a tensor map: a dict that Python fills */
} Field;

typedef struct {
    PyObject_HEAD
    Config config;
    void *function;
    Enqueue enqueue;
    unsigned int ctas;
    unsigned long long least, most;
    uint32_t grid[3];
    int of_stream;
    uint64_t stream;
    IsCapturing capturing;
    char *block;
    size_t size;
    Py_ssize_t count;
    Field *fields;
    PyObject *owner;
} Launch;

static void launch_dealloc(Launch *self)
{
    for (Py_ssize_t i = 0; i < self->count; i++)
        Py_XDECREF(self->fields[i].maps);
    PyMem_Free(self->fields);
    PyMem_Free(self->block);
    Py_XDECREF(self->owner);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static Py_ssize_t width(char format)
{
    switch (format) {
    case 'b': return 1;
    case 'h': case 'e': return 2;
    case 'i': case 'f': return 4;
    case 'q': case 'd': case 'Q': return 8;
    case 'm': return TENSOR_MAP_BYTES;
    default: return 0;
    }
}

static int read_field(Field *field, PyObject *item, int is_map, size_t size)
{
    int format = 'm';
    if (is_map) {
        if (!PyArg_ParseTuple(item, "niO!", &field->offset, &field->index, &PyDict_Type,
                              &field->maps))
            return 0;
        Py_INCREF(field->maps);
    } else if (!PyArg_ParseTuple(item, "niC", &field->offset, &field->index, &format))
        return 0;
    field->format = (char)format;
    Py_ssize_t bytes = width(field->format);
    if (!bytes || field->offset < 0 || field->offset + bytes > (Py_ssize_t)size ||
        field->index < 0 || field->index >= MAX_VALUES) {
        PyErr_SetString(PyExc_ValueError, "a parameter outside its block, or of no known format");
        return 0;
    }
    return 1;
}

static PyObject *launch_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    (void)names;
    const char *config, *block;
    Py_ssize_t config_size, block_size;
    unsigned long long function, enqueue, least, most, capturing;
    unsigned int ctas, x, y, z;
    int of_stream;
    PyObject *numbers, *maps, *owner;
    if (!PyArg_ParseTuple(args, "y#KKI(KK)(III)pKy#O!O!O", &config, &config_size, &function,
                          &enqueue, &ctas, &least, &most, &x, &y, &z, &of_stream,
                          &capturing, &block, &block_size, &PyTuple_Type, &numbers, &PyTuple_Type, &maps, &owner))
        return NULL;
    if (config_size != sizeof(Config)) {
        PyErr_SetString(PyExc_ValueError, "the configuration is no CUlaunchConfig");
        return NULL;
    }
    Launch *self = (Launch *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    Py_ssize_t plain = PyTuple_GET_SIZE(numbers), count = plain + PyTuple_GET_SIZE(maps);
    memcpy(&self->config, config, sizeof(Config));
    self->function = (void *)(uintptr_t)function;
    self->enqueue = (Enqueue)(uintptr_t)enqueue;
    self->ctas = ctas;
    self->least = least, self->most = most;
    self->grid[0] = x, self->grid[1] = y, self->grid[2] = z;
    self->of_stream = of_stream, self->stream = self->config.stream;
    self->capturing = (IsCapturing)(uintptr_t)capturing;
    self->size = (size_t)block_size;
    self->block = PyMem_Malloc(self->size + 1);
    self->fields = PyMem_Calloc((size_t)count + 1, sizeof(Field));
    self->owner = Py_NewRef(owner);
    if (!self->block || !self->fields) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    memcpy(self->block, block, self->size);
    for (self->count = 0; self->count < count; self->count++) {
        Py_ssize_t i = self->count;
        int is_map = i >= plain;
        PyObject *item = is_map ? PyTuple_GET_ITEM(maps, i - plain) : PyTuple_GET_ITEM(numbers, i);
        if (!read_field(&self->fields[i], item, is_map, self->size)) {
            self->count++; /* its dict may be there already */
            Py_DECREF(self);
            return NULL;
        }
    }
    return (PyObject *)self;
}

static int is_real(char format)
{
    return format == 'e' || format == 'f' || format == 'd';
}

/* Pack a number as `struct` does, where it does: others are errors that Python raises. */
static int pack(char *at, char format, Value value)
{
    int64_t n = value.integer;
    float single;
    if (value.kind == FLOAT) {
        if (!is_real(format))
            return 0;
    } else if (is_real(format))
        value.real = (double)n;
    switch (format) {
    case 'b':
        if (n != (int8_t)n) return 0;
        break;
    case 'h':
        if (n != (int16_t)n) return 0;
        break;
    case 'i':
        if (n != (int32_t)n) return 0;
        break;
    case 'e':
        return !PyFloat_Pack2(value.real, at, 1);
    case 'f':
        single = (float)value.real;
        if (isinf(single) && !isinf(value.real)) return 0;
        memcpy(at, &single, sizeof single);
        return 1;
    case 'd':
        memcpy(at, &value.real, sizeof value.real);
        return 1;
    }
    memcpy(at, &n, (size_t)width(format)); /* little-endian, as GPUs are */
    return 1;
}

static int fill(Launch *self, const Arguments *found)
{
    for (Py_ssize_t i = 0; i < self->count; i++) {
        Field *field = &self->fields[i];
        char *at = self->block + field->offset;
        if (field->index >= found->count)
            return 0;
        Value value = found->values[field->index];
        if (!field->maps) {
            if (!pack(at, field->format, value))
                return 0;
            continue;
        }
        PyObject *address = PyLong_FromUnsignedLongLong((unsigned long long)value.integer);
        if (!address)
            return 0;
        PyObject *map = PyDict_GetItemWithError(field->maps, address); /* Python encodes others */
        Py_DECREF(address);
        if (!map || !PyBytes_CheckExact(map) || PyBytes_GET_SIZE(map) != TENSOR_MAP_BYTES)
            return 0;
        memcpy(at, PyBytes_AS_STRING(map), TENSOR_MAP_BYTES);
    }
    return 1;
}

static PyTypeObject LaunchType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "tileas_launcher.Launch",
    .tp_basicsize = sizeof(Launch),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = launch_new,
    .tp_dealloc = (destructor)launch_dealloc,
};

/* ---- Launcher: the launches of a kernel ---- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *constants, *readers, *streams;
    long max_blocks;
    PyObject *launches; /* {key: Launch or None} */
    PyObject *kept;     /* constants whose addresses are in keys */
} Launcher;

/* The whole of an array that a plan depends on; 0 if Python must read it. */
static int read_array(Launcher *self, PyObject *array, Arguments *found, int *is_unknown)
{
    PyObject *capsule = PyDict_GetItemWithError(self->readers, (PyObject *)Py_TYPE(array));
    if (!capsule)
        *is_unknown = !PyErr_Occurred();
    if (!capsule || capsule == Py_None)
        return 0;
    ExchangeApi *api = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    DLTensor tensor;
    if (!api || api->major != 1 || !api->read || api->read(array, &tensor) || !tensor.strides)
        return 0;
    Value value = {INTEGER, (int64_t)((uintptr_t)tensor.data + tensor.byte_offset), 0};
    uint8_t alignment = value.integer & ALIGNMENT_MASK;
    size_t extents = (size_t)tensor.ndim * sizeof(int64_t);
    return put(found, &tensor.device_type, offsetof(DLTensor, shape) -
                                               offsetof(DLTensor, device_type)) &&
           put(found, &alignment, sizeof alignment) && put(found, tensor.shape, extents) &&
           put(found, tensor.strides, extents) && add_value(found, value);
}

/* A constant by its value, or by its address where that says more; `kept` keeps it alive. */
static int read_constant(PyObject *value, Arguments *found)
{
    if (PyFloat_CheckExact(value)) {
        double real = PyFloat_AS_DOUBLE(value);
        return put(found, &real, sizeof real);
    }
    if (PyLong_CheckExact(value)) {
        int overflow;
        long long n = PyLong_AsLongLongAndOverflow(value, &overflow);
        return !overflow && put(found, &n, sizeof n);
    }
    return put(found, &value, sizeof value);
}

static int read_argument(Launcher *self, PyObject *value, int is_constant, Arguments *found,
                         int *is_unknown)
{
    PyTypeObject *type = Py_TYPE(value);
    if (!put(found, &type, sizeof type))
        return 0;
    if (is_constant)
        return read_constant(value, found);
    if (PyFloat_CheckExact(value))
        return add_value(found, (Value){FLOAT, 0, PyFloat_AS_DOUBLE(value)});
    if (PyLong_CheckExact(value) || PyBool_Check(value)) {
        int overflow;
        int64_t n = PyLong_AsLongLongAndOverflow(value, &overflow);
        return !overflow && add_value(found, (Value){INTEGER, n, 0});
    }
    return read_array(self, value, found, is_unknown);
}

/* The key and the values of arguments; 0 if Python must read them. */
static int read_arguments(Launcher *self, PyObject *args, PyObject *dependent, Arguments *found,
                          int *is_unknown)
{
    char is_dependent = (char)PyObject_IsTrue(dependent);
    found->size = 0, found->count = 0, *is_unknown = 0;
    if (!PyTuple_CheckExact(args) || PyTuple_GET_SIZE(args) != PyTuple_GET_SIZE(self->constants))
        return 0;
    put(found, &is_dependent, sizeof is_dependent);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        int is_constant = PyTuple_GET_ITEM(self->constants, i) == Py_True;
        if (!read_argument(self, PyTuple_GET_ITEM(args, i), is_constant, found, is_unknown))
            return 0;
    }
    return 1;
}

static int read_stream(Launcher *self, PyObject *stream, uint64_t *handle)
{
    if (PyLong_CheckExact(stream)) {
        *handle = PyLong_AsUnsignedLongLong(stream);
        return !PyErr_Occurred();
    }
    PyObject *reader = PyDict_GetItemWithError(self->streams, (PyObject *)Py_TYPE(stream));
    PyObject *found = reader ? PyObject_CallOneArg(reader, stream) : NULL;
    int is_read = found && PyLong_CheckExact(found);
    if (is_read)
        *handle = PyLong_AsUnsignedLongLong(found);
    Py_XDECREF(found);
    return is_read && !PyErr_Occurred();
}

static int read_grid(Launcher *self, PyObject *grid, uint32_t blocks[3])
{
    if (!PyTuple_CheckExact(grid) || PyTuple_GET_SIZE(grid) > 3)
        return 0;
    for (Py_ssize_t i = 0; i < 3; i++) {
        blocks[i] = 1;
        if (i >= PyTuple_GET_SIZE(grid))
            continue;
        PyObject *extent = PyTuple_GET_ITEM(grid, i);
        long n = PyLong_CheckExact(extent) ? PyLong_AsLong(extent) : -1;
        if (n < 0 || n > self->max_blocks)
            return 0;
        blocks[i] = (uint32_t)n;
    }
    return 1;
}

static int enqueue(Launch *launch, const uint32_t blocks[3], uint64_t stream)
{
    Config *config = &launch->config;
    void *extra[] = {POINTER, launch->block, SIZE, &launch->size, NULL};
    if (launch->ctas) {
        config->grid[0] = blocks[0] * launch->ctas;
        config->grid[1] = blocks[1];
        config->grid[2] = blocks[2];
    }
    config->stream = stream;
    return launch->enqueue(config, launch->function, NULL, extra);
}

/* Whether a stream is recorded for a graph, which has memory of its own, or cannot be asked. */
static int is_captured(const Launch *launch, uint64_t stream)
{
    int status = 0;
    return launch->capturing && (launch->capturing((void *)(uintptr_t)stream, &status) || status);
}

static int is_for_python(const uint32_t blocks[3], uint64_t stream, const Launch *launch)
{
    if (launch->of_stream && (stream != launch->stream || is_captured(launch, stream)))
        return 1;
    unsigned long long rows = (unsigned long long)blocks[0] * blocks[1]; /* of 24 bits each */
    int is_smaller = blocks[2] <= UINT64_MAX / (rows + 1) && rows * blocks[2] < launch->least;
    int is_larger = rows > launch->most || (blocks[2] && rows > launch->most / blocks[2]);
    return (is_smaller || is_larger) && memcmp(blocks, launch->grid, sizeof(launch->grid));
}

/* The key of what is known of arguments, of them on one grid, or on one grid and stream. */
typedef enum { OF_ALL, OF_GRID, OF_STREAM } Scope;

static PyObject *key_of(Arguments *found, Scope scope, const uint32_t blocks[3], uint64_t stream)
{
    size_t size = found->size; /* no key begins with another: what follows tells them apart */
    int fits = scope == OF_ALL || put(found, blocks, 3 * sizeof(uint32_t));
    fits = fits && (scope != OF_STREAM || put(found, &stream, sizeof stream));
    PyObject *key = fits ? PyBytes_FromStringAndSize(found->bytes, (Py_ssize_t)found->size) : NULL;
    found->size = size;
    return key;
}

static PyObject *known(Launcher *self, Arguments *found, Scope scope, const uint32_t blocks[3],
                       uint64_t stream)
{
    PyObject *key = key_of(found, scope, blocks, stream);
    PyObject *launch = key ? PyDict_GetItemWithError(self->launches, key) : NULL;
    Py_XDECREF(key);
    return launch;
}

static PyObject *relaunch(Launcher *self, PyObject *const *args)
{
    Arguments found;
    uint32_t blocks[3];
    uint64_t stream;
    int is_unknown;
    /* The stream comes first: its reader may run Python, and with it other threads. */
    if (!read_stream(self, args[0], &stream) || !read_grid(self, args[1], blocks))
        Py_RETURN_FALSE;
    if (!read_arguments(self, args[2], args[3], &found, &is_unknown)) {
        if (is_unknown)
            Py_RETURN_NONE;
        Py_RETURN_FALSE;
    }
    PyObject *launch = known(self, &found, OF_ALL, blocks, stream);
    if (launch == Py_None)
        Py_RETURN_FALSE;
    for (Scope scope = OF_GRID; scope <= OF_STREAM; scope++)
        if (!launch || is_for_python(blocks, stream, (Launch *)launch))
            launch = known(self, &found, scope, blocks, stream);
    if (!launch && !PyErr_Occurred())
        Py_RETURN_NONE;
    if (!launch || is_for_python(blocks, stream, (Launch *)launch))
        Py_RETURN_FALSE;
    Py_INCREF(launch); /* `add` may replace it if a tool in front of the driver runs Python */
    int failed = !fill((Launch *)launch, &found) || enqueue((Launch *)launch, blocks, stream);
    Py_DECREF(launch);
    return PyBool_FromLong(!failed); /* where it failed, Python launches again, and raises */
}

static PyObject *launcher_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names)
{
    if (PyVectorcall_NARGS(flags) != 4 || names) {
        PyErr_SetString(PyExc_TypeError, "expected stream, grid, args, dependent");
        return NULL;
    }
    PyObject *found = relaunch((Launcher *)self, args);
    PyErr_Clear(); /* what went wrong is for Python to find */
    return found;
}

static PyObject *launcher_add(Launcher *self, PyObject *given)
{
    PyObject *args, *dependent, *launch;
    Arguments found;
    int is_unknown;
    if (!PyArg_ParseTuple(given, "OOO", &args, &dependent, &launch))
        return NULL;
    if (launch != Py_None && Py_TYPE(launch) != &LaunchType) {
        PyErr_SetString(PyExc_TypeError, "expected a Launch or None");
        return NULL;
    }
    if (!read_arguments(self, args, dependent, &found, &is_unknown)) {
        PyErr_Clear();
        Py_RETURN_FALSE;
    }
    if (PyDict_GET_SIZE(self->launches) >= MAX_LAUNCHES) {
        PyDict_Clear(self->launches);
        if (PyList_SetSlice(self->kept, 0, PyList_GET_SIZE(self->kept), NULL))
            return NULL;
    }
    Launch *made = launch == Py_None ? NULL : (Launch *)launch;
    Scope scope = !made ? OF_ALL : made->of_stream ? OF_STREAM : made->ctas ? OF_ALL : OF_GRID;
    if (made && scope == OF_ALL && known(self, &found, OF_ALL, made->grid, made->stream))
        scope = OF_GRID;
    PyObject *key = key_of(&found, scope, made ? made->grid : NULL, made ? made->stream : 0);
    if (!key && !PyErr_Occurred())
        Py_RETURN_FALSE; /* it is too long */
    int failed = !key || PyDict_SetItem(self->launches, key, launch);
    Py_XDECREF(key);
    for (Py_ssize_t i = 0; !failed && i < PyTuple_GET_SIZE(args); i++)
        if (PyTuple_GET_ITEM(self->constants, i) == Py_True)
            failed = PyList_Append(self->kept, PyTuple_GET_ITEM(args, i));
    if (failed)
        return NULL;
    Py_RETURN_TRUE;
}

static PyObject *launcher_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    (void)names;
    PyObject *constants, *readers, *streams;
    long max_blocks;
    if (!PyArg_ParseTuple(args, "O!O!O!l", &PyTuple_Type, &constants, &PyDict_Type, &readers,
                          &PyDict_Type, &streams, &max_blocks))
        return NULL;
    Launcher *self = (Launcher *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->vectorcall = launcher_call;
    self->constants = Py_NewRef(constants);
    self->readers = Py_NewRef(readers);
    self->streams = Py_NewRef(streams);
    self->max_blocks = max_blocks;
    self->launches = PyDict_New();
    self->kept = PyList_New(0);
    if (!self->launches || !self->kept) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void launcher_dealloc(Launcher *self)
{
    Py_XDECREF(self->constants);
    Py_XDECREF(self->readers);
    Py_XDECREF(self->streams);
    Py_XDECREF(self->launches);
    Py_XDECREF(self->kept);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef launcher_methods[] = {
    {"add", (PyCFunction)launcher_add, METH_VARARGS, "Keep a launch for arguments like these."},
    {NULL},
};

static PyTypeObject LauncherType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "tileas_launcher.Launcher",
    .tp_basicsize = sizeof(Launcher),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Launcher, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = launcher_new,
    .tp_dealloc = (destructor)launcher_dealloc,
    .tp_methods = launcher_methods,
};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "tileas_launcher", .m_size = -1,
};

PyMODINIT_FUNC PyInit_tileas_launcher(void)
{
    PyObject *made = PyModule_Create(&module);
    if (!made || PyModule_AddType(made, &LaunchType) || PyModule_AddType(made, &LauncherType)) {
        Py_XDECREF(made);
        return NULL;
    }
    return made;
}
