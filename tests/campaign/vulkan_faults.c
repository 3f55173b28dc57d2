// Vulkan layer that makes one call of a program fail, and tells which objects the program has not destroyed.
//
// FRAZIL_VULKAN_FAULT  FUNCTION:N:RESULT fails the Nth call of a function, counted from 1, such as
//                      vkCreateBuffer:3:VK_ERROR_OUT_OF_DEVICE_MEMORY; FUNCTION:N+:RESULT that call and all
//                      later ones. After VK_ERROR_DEVICE_LOST, every call that may return it does. The result
//                      HANG of vkQueueSubmit2 is success, but the commands never run, as if one never ended.
// FRAZIL_VULKAN_LOG    file for the findings, a line each, written when the process ends:
//                        call FUNCTION COUNT RESULT…   calls of a function, and how it may fail
//                        site FUNCTION N CHAIN         without a fault: call that is the first by its chain
//                                                      of callers in the program, and a hash of the chain
//                        fired FUNCTION N RESULT       the fault
//                        live KIND NAME                an object that was never destroyed
//                        orphan KIND NAME              an object that was alive when its device was destroyed
//                        unknown KIND                  destruction of an object that does not exist
//
// It is an implicit layer, outside of all others, so that it also sees the calls that precede an instance.
// The results are those that the specification lists for a function, except for those that need an input that
// a layer cannot know of. A failed call does not reach the driver.
#define _GNU_SOURCE
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define HOST VK_ERROR_OUT_OF_HOST_MEMORY
#define DEVICE VK_ERROR_OUT_OF_DEVICE_MEMORY
#define LOST VK_ERROR_DEVICE_LOST
#define INIT VK_ERROR_INITIALIZATION_FAILED
#define HANG VK_RESULT_MAX_ENUM

// Functions that may fail: those of the instance or before it, then those of a device.
#define EARLY_FUNCTIONS(X) \
    X(EnumerateInstanceLayerProperties, HOST, DEVICE) \
    X(EnumerateInstanceExtensionProperties, HOST, DEVICE) \
    X(CreateInstance, HOST, DEVICE, INIT, VK_ERROR_INCOMPATIBLE_DRIVER) \
    X(EnumeratePhysicalDevices, HOST, DEVICE, INIT) \
    X(EnumerateDeviceExtensionProperties, HOST, DEVICE) \
    X(CreateDevice, HOST, DEVICE, INIT, VK_ERROR_TOO_MANY_OBJECTS, LOST) \
    X(CreateDebugUtilsMessengerEXT, HOST)
#define DEVICE_FUNCTIONS(X) \
    X(CreateBuffer, HOST, DEVICE) \
    X(CreateImage, HOST, DEVICE) \
    X(CreateImageView, HOST, DEVICE) \
    X(CreateSemaphore, HOST, DEVICE) \
    X(CreateCommandPool, HOST, DEVICE) \
    X(CreatePipelineCache, HOST, DEVICE) \
    X(CreateShaderModule, HOST, DEVICE) \
    X(CreateDescriptorSetLayout, HOST, DEVICE) \
    X(CreatePipelineLayout, HOST, DEVICE) \
    X(CreateQueryPool, HOST, DEVICE) \
    X(CreateComputePipelines, HOST, DEVICE) \
    X(CreateGraphicsPipelines, HOST, DEVICE) \
    X(AllocateMemory, HOST, DEVICE) \
    X(MapMemory, HOST, DEVICE, VK_ERROR_MEMORY_MAP_FAILED) \
    X(BindBufferMemory, HOST, DEVICE) \
    X(BindImageMemory, HOST, DEVICE) \
    X(AllocateCommandBuffers, HOST, DEVICE) \
    X(ResetCommandPool, DEVICE) \
    X(BeginCommandBuffer, HOST, DEVICE) \
    X(EndCommandBuffer, HOST, DEVICE) \
    X(QueueSubmit2, HOST, DEVICE, LOST, HANG) \
    X(QueueWaitIdle, HOST, DEVICE, LOST) \
    X(DeviceWaitIdle, HOST, DEVICE, LOST) \
    X(WaitSemaphores, HOST, DEVICE, LOST, VK_TIMEOUT) \
    X(GetSemaphoreCounterValue, HOST, DEVICE, LOST) \
    X(GetQueryPoolResults, HOST, DEVICE, LOST) \
    X(GetPipelineCacheData, HOST, DEVICE) \
    X(GetPipelineExecutablePropertiesKHR, HOST, DEVICE) \
    X(GetPipelineExecutableStatisticsKHR, HOST, DEVICE) \
    X(SetDebugUtilsObjectNameEXT, HOST, DEVICE)

// Functions that destroy an object of a device.
#define DESTROYED_KINDS(X) \
    X(Buffer) X(Image) X(ImageView) X(Semaphore) X(CommandPool) X(PipelineCache) X(ShaderModule) \
    X(DescriptorSetLayout) X(PipelineLayout) X(QueryPool) X(Pipeline)

enum function {
#define X(name, ...) F_##name,
    EARLY_FUNCTIONS(X) DEVICE_FUNCTIONS(X)
#undef X
    N_FUNCTIONS
};

enum { MAX_RESULTS = 6, NAME = 96 };

static struct {
    const char *name;
    VkResult results[MAX_RESULTS];
    unsigned n_calls;
} functions[N_FUNCTIONS] = {
#define X(name, ...) { "vk" #name, { __VA_ARGS__ }, 0 },
    EARLY_FUNCTIONS(X) DEVICE_FUNCTIONS(X)
#undef X
};

static const struct {
    VkResult result;
    const char *name;
} result_names[] = {
#define X(result) { result, #result }
    X(VK_TIMEOUT), X(VK_ERROR_OUT_OF_HOST_MEMORY), X(VK_ERROR_OUT_OF_DEVICE_MEMORY),
    X(VK_ERROR_INITIALIZATION_FAILED), X(VK_ERROR_DEVICE_LOST), X(VK_ERROR_MEMORY_MAP_FAILED),
    X(VK_ERROR_INCOMPATIBLE_DRIVER), X(VK_ERROR_TOO_MANY_OBJECTS),
#undef X
    { HANG, "HANG" },
};

static const char *name_of(VkResult result) {
    for (size_t i = 0; i < sizeof result_names / sizeof *result_names; ++i)
        if (result_names[i].result == result) return result_names[i].name;
    return "?";
}

struct object {
    const char *kind;
    uint64_t handle;
    char name[NAME];
};

struct finding {
    char text[2 * NAME];
    struct finding *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;
static size_t n_objects, capacity;
static struct finding *findings;
static int is_lost;
static VkDevice the_device;

// Next layer or driver; a process has one device at a time, of its first instance. A second instance, which only
// keeps drivers loaded, passes by.
static PFN_vkGetInstanceProcAddr next_instance_proc;
static PFN_vkGetDeviceProcAddr next_device_proc;
static VkInstance the_instance;

// Next functions of the instance: once it exists, the loader gives this layer's own.
#define NEXT_OF_INSTANCE(X) \
    X(DestroyInstance) X(EnumeratePhysicalDevices) X(EnumerateDeviceExtensionProperties) X(CreateDevice) \
    X(CreateDebugUtilsMessengerEXT) X(DestroyDebugUtilsMessengerEXT)
static struct {
#define X(name) PFN_vk##name name;
    NEXT_OF_INSTANCE(X)
#undef X
} next;

static void find(const char *word, const char *kind, const char *name) {
    struct finding *finding = calloc(1, sizeof *finding);
    if (!finding) return;
    snprintf(finding->text, sizeof finding->text, "%s %s %s", word, kind, name);
    finding->next = findings;
    findings = finding;
}

static void add(const char *kind, uint64_t handle) {
    pthread_mutex_lock(&lock);
    if (n_objects == capacity) {
        size_t larger = capacity ? 2 * capacity : 1024;
        struct object *moved = realloc(objects, larger * sizeof *objects);
        if (!moved) abort();
        objects = moved;
        capacity = larger;
    }
    objects[n_objects++] = (struct object){ kind, handle, "" };
    pthread_mutex_unlock(&lock);
}

static void drop(const char *kind, uint64_t handle) {
    if (!handle) return;
    pthread_mutex_lock(&lock);
    size_t i = n_objects;
    while (i > 0 && !(objects[i - 1].handle == handle && strcmp(objects[i - 1].kind, kind) == 0)) --i;
    if (i > 0)
        objects[i - 1] = objects[--n_objects];
    else
        find("unknown", kind, "");
    pthread_mutex_unlock(&lock);
}

static void set_name(uint64_t handle, const char *name) {
    pthread_mutex_lock(&lock);
    for (size_t i = n_objects; i-- > 0;)
        if (objects[i].handle == handle) {
            snprintf(objects[i].name, NAME, "%s", name ? name : "");
            break;
        }
    pthread_mutex_unlock(&lock);
}

enum { MAX_FRAMES = 64, MAX_SITES = 1 << 14 };

// Hashes of the chains of callers so far, by open addressing; 0 is a free place.
static uint64_t sites[2 * MAX_SITES];
static size_t n_sites;

// Stores the first and the last address of the program, which is the first object.
static int find_program(struct dl_phdr_info *info, size_t size, void *range) {
    uintptr_t *ends = range;
    (void)size;
    ends[0] = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        uintptr_t first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (first < ends[0]) ends[0] = first;
        if (first + info->dlpi_phdr[i].p_memsz > ends[1]) ends[1] = first + info->dlpi_phdr[i].p_memsz;
    }
    return 1;
}

// Records a call by its chain of callers in the program; those in other libraries do not count.
static void note_site(enum function function, unsigned n) {
    static uintptr_t program[2];
    void *frames[MAX_FRAMES];
    if (!program[1]) dl_iterate_phdr(find_program, program);
    int n_frames = backtrace(frames, MAX_FRAMES);
    // FNV-1a.
    uint64_t hash = (0xcbf29ce484222325u ^ (uint64_t)function) * 0x100000001b3u;
    for (int i = 0; i < n_frames; ++i) {
        uintptr_t address = (uintptr_t)frames[i];
        if (address >= program[0] && address < program[1])
            hash = (hash ^ (uint64_t)(address - program[0])) * 0x100000001b3u;
    }
    if (hash == 0) hash = 1;
    size_t at = hash % (2 * MAX_SITES);
    while (sites[at] && sites[at] != hash) at = (at + 1) % (2 * MAX_SITES);
    if (sites[at] || n_sites == MAX_SITES) return;
    sites[at] = hash;
    ++n_sites;
    char text[NAME];
    snprintf(text, sizeof text, "%u %016llx", n, (unsigned long long)hash);
    find("site", functions[function].name, text);
}

static int may_return(enum function function, VkResult result) {
    for (int i = 0; i < MAX_RESULTS; ++i)
        if (functions[function].results[i] == result) return 1;
    return 0;
}

// Counts a call; returns the result with which it fails, or VK_SUCCESS.
static VkResult fault(enum function function) {
    static char which[NAME];
    static unsigned long at;
    static int is_read, and_later;
    static VkResult planned;
    pthread_mutex_lock(&lock);
    if (!is_read) {
        char result[NAME] = "", plus[2] = "";
        const char *text = getenv("FRAZIL_VULKAN_FAULT");
        is_read = 1;
        if (text && (sscanf(text, "%95[^:]:%lu:%95s", which, &at, result) == 3 ||
                     sscanf(text, "%95[^:]:%lu%1[+]:%95s", which, &at, plus, result) == 4)) {
            and_later = *plus == '+';
            for (size_t i = 0; i < sizeof result_names / sizeof *result_names; ++i)
                if (strcmp(result_names[i].name, result) == 0) planned = result_names[i].result;
        }
    }
    VkResult result = VK_SUCCESS;
    unsigned n = ++functions[function].n_calls;
    if (!planned) note_site(function, n);
    if (is_lost && may_return(function, LOST)) {
        result = LOST;
    } else if (planned && (n == at || (and_later && n > at)) &&
               strcmp(functions[function].name, which) == 0) {
        result = planned;
        char text[NAME];
        snprintf(text, sizeof text, "%u %s", n, name_of(result));
        find("fired", which, text);
        if (result == LOST) is_lost = 1;
    }
    pthread_mutex_unlock(&lock);
    // Work of a lost device has ended; here it must end, since its objects may now be destroyed.
    if (result == LOST && the_device)
        ((PFN_vkDeviceWaitIdle)next_device_proc(the_device, "vkDeviceWaitIdle"))(the_device);
    return result;
}

__attribute__((destructor)) static void write_log(void) {
    const char *path = getenv("FRAZIL_VULKAN_LOG");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    for (int f = 0; f < N_FUNCTIONS; ++f) {
        fprintf(file, "call %s %u", functions[f].name, functions[f].n_calls);
        for (int i = 0; i < MAX_RESULTS && functions[f].results[i]; ++i)
            fprintf(file, " %s", name_of(functions[f].results[i]));
        fputc('\n', file);
    }
    for (struct finding *finding = findings; finding; finding = finding->next)
        fprintf(file, "%s\n", finding->text);
    for (size_t i = 0; i < n_objects; ++i) fprintf(file, "live %s %s\n", objects[i].kind, objects[i].name);
    fclose(file);
}

#define FAIL(name)                        \
    VkResult failed = fault(F_##name);    \
    if (failed != VK_SUCCESS) return failed
#define NEXT(name) ((PFN_vk##name)next_device_proc(device, "vk" #name))
#define ID(handle) ((uint64_t)(uintptr_t)(handle))

// Calls that precede an instance.

VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
frazil_EnumerateInstanceLayerProperties(const VkEnumerateInstanceLayerPropertiesChain *chain, uint32_t *n,
                                        VkLayerProperties *layers) {
    FAIL(EnumerateInstanceLayerProperties);
    return chain->pfnNextLayer(chain->pNextLink, n, layers);
}

VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
frazil_EnumerateInstanceExtensionProperties(const VkEnumerateInstanceExtensionPropertiesChain *chain,
                                            const char *layer, uint32_t *n,
                                            VkExtensionProperties *extensions) {
    FAIL(EnumerateInstanceExtensionProperties);
    return chain->pfnNextLayer(chain->pNextLink, layer, n, extensions);
}

// The instance.

static VKAPI_ATTR VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo *info,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkInstance *instance) {
    VkLayerInstanceCreateInfo *chain = (VkLayerInstanceCreateInfo *)info->pNext;
    while (chain && !(chain->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                      chain->function == VK_LAYER_LINK_INFO))
        chain = (VkLayerInstanceCreateInfo *)chain->pNext;
    if (!chain) return INIT;
    PFN_vkGetInstanceProcAddr proc = chain->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)proc(NULL, "vkCreateInstance");
    if (the_instance) return create(info, allocator, instance);
    FAIL(CreateInstance);
    next_instance_proc = proc;
    VkResult result = create(info, allocator, instance);
    if (result == VK_SUCCESS) {
        the_instance = *instance;
#define X(name) next.name = (PFN_vk##name)next_instance_proc(the_instance, "vk" #name);
        NEXT_OF_INSTANCE(X)
#undef X
        add("Instance", ID(*instance));
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL DestroyInstance(VkInstance instance,
                                                  const VkAllocationCallbacks *allocator) {
    if (instance != the_instance) return;
    next.DestroyInstance(instance, allocator);
    drop("Instance", ID(instance));
    the_instance = NULL;
}

static VKAPI_ATTR VkResult VKAPI_CALL EnumeratePhysicalDevices(VkInstance instance, uint32_t *n,
                                                               VkPhysicalDevice *devices) {
    FAIL(EnumeratePhysicalDevices);
    return next.EnumeratePhysicalDevices(instance, n, devices);
}

static VKAPI_ATTR VkResult VKAPI_CALL
EnumerateDeviceExtensionProperties(VkPhysicalDevice device, const char *layer, uint32_t *n,
                                   VkExtensionProperties *extensions) {
    FAIL(EnumerateDeviceExtensionProperties);
    return next.EnumerateDeviceExtensionProperties(device, layer, n, extensions);
}

static VKAPI_ATTR VkResult VKAPI_CALL
CreateDebugUtilsMessengerEXT(VkInstance instance, const VkDebugUtilsMessengerCreateInfoEXT *info,
                             const VkAllocationCallbacks *allocator, VkDebugUtilsMessengerEXT *messenger) {
    FAIL(CreateDebugUtilsMessengerEXT);
    VkResult result = next.CreateDebugUtilsMessengerEXT(instance, info, allocator, messenger);
    if (result == VK_SUCCESS) add("DebugUtilsMessenger", ID(*messenger));
    return result;
}

static VKAPI_ATTR void VKAPI_CALL
DestroyDebugUtilsMessengerEXT(VkInstance instance, VkDebugUtilsMessengerEXT messenger,
                              const VkAllocationCallbacks *allocator) {
    next.DestroyDebugUtilsMessengerEXT(instance, messenger, allocator);
    drop("DebugUtilsMessenger", ID(messenger));
}

static VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator, VkDevice *device) {
    VkLayerDeviceCreateInfo *chain = (VkLayerDeviceCreateInfo *)info->pNext;
    while (chain && !(chain->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
                      chain->function == VK_LAYER_LINK_INFO))
        chain = (VkLayerDeviceCreateInfo *)chain->pNext;
    if (!chain) return INIT;
    FAIL(CreateDevice);
    next_device_proc = chain->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    chain->u.pLayerInfo = chain->u.pLayerInfo->pNext;
    VkResult result = next.CreateDevice(physical, info, allocator, device);
    if (result == VK_SUCCESS) {
        the_device = *device;
        add("Device", ID(*device));
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL DestroyDevice(VkDevice device, const VkAllocationCallbacks *allocator) {
    if (!device) return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_objects; ++i)
        if (strcmp(objects[i].kind, "Instance") && strcmp(objects[i].kind, "Device") &&
            strcmp(objects[i].kind, "DebugUtilsMessenger"))
            find("orphan", objects[i].kind, objects[i].name);
    pthread_mutex_unlock(&lock);
    PFN_vkDestroyDevice destroy = NEXT(DestroyDevice);
    the_device = NULL;
    destroy(device, allocator);
    drop("Device", ID(device));
}

// Objects of the device. Command buffers and queues are dispatchable, so that the device is not at hand.

#define CREATED(kind)                                                                                       \
    static VKAPI_ATTR VkResult VKAPI_CALL Create##kind(VkDevice device, const Vk##kind##CreateInfo *info,   \
                                                       const VkAllocationCallbacks *allocator,              \
                                                       Vk##kind *made) {                                    \
        FAIL(Create##kind);                                                                                 \
        VkResult result = NEXT(Create##kind)(device, info, allocator, made);                                \
        if (result == VK_SUCCESS) add(#kind, ID(*made));                                                    \
        return result;                                                                                      \
    }
CREATED(Buffer)
CREATED(Image)
CREATED(ImageView)
CREATED(Semaphore)
CREATED(CommandPool)
CREATED(PipelineCache)
CREATED(ShaderModule)
CREATED(DescriptorSetLayout)
CREATED(PipelineLayout)
CREATED(QueryPool)

#define X(kind)                                                                         \
    static VKAPI_ATTR void VKAPI_CALL Destroy##kind(VkDevice device, Vk##kind object,   \
                                                    const VkAllocationCallbacks *allocator) { \
        NEXT(Destroy##kind)(device, object, allocator);                                 \
        drop(#kind, ID(object));                                                        \
    }
DESTROYED_KINDS(X)
#undef X

#define PIPELINES(kind)                                                                                  \
    static VKAPI_ATTR VkResult VKAPI_CALL Create##kind##Pipelines(                                       \
        VkDevice device, VkPipelineCache cache, uint32_t n, const Vk##kind##PipelineCreateInfo *infos,   \
        const VkAllocationCallbacks *allocator, VkPipeline *made) {                                      \
        VkResult failed = fault(F_Create##kind##Pipelines);                                              \
        if (failed != VK_SUCCESS) {                                                                      \
            for (uint32_t i = 0; i < n; ++i) made[i] = VK_NULL_HANDLE;                                   \
            return failed;                                                                               \
        }                                                                                                \
        VkResult result = NEXT(Create##kind##Pipelines)(device, cache, n, infos, allocator, made);       \
        for (uint32_t i = 0; i < n; ++i)                                                                 \
            if (made[i]) add("Pipeline", ID(made[i]));                                                   \
        return result;                                                                                   \
    }
PIPELINES(Compute)
PIPELINES(Graphics)

static VKAPI_ATTR VkResult VKAPI_CALL AllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkDeviceMemory *memory) {
    FAIL(AllocateMemory);
    VkResult result = NEXT(AllocateMemory)(device, info, allocator, memory);
    if (result == VK_SUCCESS) add("DeviceMemory", ID(*memory));
    return result;
}

static VKAPI_ATTR void VKAPI_CALL FreeMemory(VkDevice device, VkDeviceMemory memory,
                                             const VkAllocationCallbacks *allocator) {
    NEXT(FreeMemory)(device, memory, allocator);
    drop("DeviceMemory", ID(memory));
}

#define FORWARDED(name, parameters, arguments)                       \
    static VKAPI_ATTR VkResult VKAPI_CALL name parameters {          \
        FAIL(name);                                                  \
        return NEXT(name) arguments;                                 \
    }
FORWARDED(MapMemory, (VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                      VkMemoryMapFlags flags, void **data),
          (device, memory, offset, size, flags, data))
FORWARDED(BindBufferMemory, (VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset),
          (device, buffer, memory, offset))
FORWARDED(BindImageMemory, (VkDevice device, VkImage image, VkDeviceMemory memory, VkDeviceSize offset),
          (device, image, memory, offset))
FORWARDED(AllocateCommandBuffers, (VkDevice device, const VkCommandBufferAllocateInfo *info,
                                   VkCommandBuffer *made),
          (device, info, made))
FORWARDED(ResetCommandPool, (VkDevice device, VkCommandPool pool, VkCommandPoolResetFlags flags),
          (device, pool, flags))
FORWARDED(DeviceWaitIdle, (VkDevice device), (device))
FORWARDED(WaitSemaphores, (VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout),
          (device, info, timeout))
FORWARDED(GetSemaphoreCounterValue, (VkDevice device, VkSemaphore semaphore, uint64_t *value),
          (device, semaphore, value))
FORWARDED(GetQueryPoolResults, (VkDevice device, VkQueryPool pool, uint32_t first, uint32_t n, size_t size,
                                void *data, VkDeviceSize stride, VkQueryResultFlags flags),
          (device, pool, first, n, size, data, stride, flags))
FORWARDED(GetPipelineCacheData, (VkDevice device, VkPipelineCache cache, size_t *size, void *data),
          (device, cache, size, data))
FORWARDED(GetPipelineExecutablePropertiesKHR, (VkDevice device, const VkPipelineInfoKHR *info, uint32_t *n,
                                               VkPipelineExecutablePropertiesKHR *properties),
          (device, info, n, properties))
FORWARDED(GetPipelineExecutableStatisticsKHR, (VkDevice device, const VkPipelineExecutableInfoKHR *info,
                                               uint32_t *n, VkPipelineExecutableStatisticKHR *statistics),
          (device, info, n, statistics))

#undef NEXT
#define NEXT(name) ((PFN_vk##name)next_device_proc(the_device, "vk" #name))
FORWARDED(BeginCommandBuffer, (VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info), (buffer, info))
FORWARDED(EndCommandBuffer, (VkCommandBuffer buffer), (buffer))

static VKAPI_ATTR VkResult VKAPI_CALL QueueSubmit2(VkQueue queue, uint32_t n, const VkSubmitInfo2 *infos,
                                                   VkFence fence) {
    VkResult failed = fault(F_QueueSubmit2);
    if (failed == HANG) return VK_SUCCESS;
    return failed != VK_SUCCESS ? failed : NEXT(QueueSubmit2)(queue, n, infos, fence);
}

FORWARDED(QueueWaitIdle, (VkQueue queue), (queue))

static VKAPI_ATTR VkResult VKAPI_CALL SetDebugUtilsObjectNameEXT(VkDevice device,
                                                                 const VkDebugUtilsObjectNameInfoEXT *info) {
    FAIL(SetDebugUtilsObjectNameEXT);
    set_name(info->objectHandle, info->pObjectName);
    // An extension of the instance: drivers need not know it.
    PFN_vkSetDebugUtilsObjectNameEXT known = NEXT(SetDebugUtilsObjectNameEXT);
    return known ? known(device, info) : VK_SUCCESS;
}

// Look-up of functions.

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance instance, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice device, const char *name);

struct entry {
    const char *name;
    PFN_vkVoidFunction function;
};
#define ENTRY(function) { "vk" #function, (PFN_vkVoidFunction)function },

static const struct entry instance_entries[] = {
    ENTRY(GetInstanceProcAddr) ENTRY(GetDeviceProcAddr) ENTRY(CreateInstance) ENTRY(DestroyInstance)
    ENTRY(EnumeratePhysicalDevices) ENTRY(EnumerateDeviceExtensionProperties) ENTRY(CreateDevice)
    ENTRY(CreateDebugUtilsMessengerEXT) ENTRY(DestroyDebugUtilsMessengerEXT)
};
#define X(name, ...) ENTRY(name)
#define DESTROY(kind) ENTRY(Destroy##kind)
static const struct entry device_entries[] = {
    DEVICE_FUNCTIONS(X) DESTROYED_KINDS(DESTROY)
    ENTRY(DestroyDevice) ENTRY(FreeMemory) ENTRY(GetDeviceProcAddr)
};

static PFN_vkVoidFunction entry(const struct entry *entries, size_t n, const char *name) {
    for (size_t i = 0; i < n; ++i)
        if (strcmp(entries[i].name, name) == 0) return entries[i].function;
    return NULL;
}

static PFN_vkVoidFunction device_entry(const char *name) {
    return entry(device_entries, sizeof device_entries / sizeof *device_entries, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice device, const char *name) {
    PFN_vkVoidFunction known = next_device_proc(device, name), ours = device_entry(name);
    // A function of an extension that is not enabled stays absent; names of objects are the loader's.
    if (!known && strcmp(name, "vkSetDebugUtilsObjectNameEXT")) return NULL;
    return ours ? ours : known;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance instance, const char *name) {
    size_t n = sizeof instance_entries / sizeof *instance_entries;
    PFN_vkVoidFunction ours = entry(instance_entries, n, name);
    if (!ours) ours = device_entry(name);
    // The loader asks for vkCreateInstance before there is a next layer.
    if (!instance || !next_instance_proc) return ours;
    PFN_vkVoidFunction known = next_instance_proc(instance, name);
    return ours && (known || strcmp(name, "vkCreateInstance") == 0) ? ours : known;
}

VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface) {
    interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = GetInstanceProcAddr;
    interface->pfnGetDeviceProcAddr = GetDeviceProcAddr;
    interface->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
