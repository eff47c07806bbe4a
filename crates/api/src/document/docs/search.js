// Searches the page that it is on: each chapter below a heading of the third level, by all the words that are typed.
const box = document.getElementById("search");
const words = document.getElementById("search-words");
const found = document.getElementById("search-found");
const AT_MOST = 30;

const chapters = [...document.querySelectorAll("h3[id]")].map((heading) => {
  let text = heading.textContent;
  for (let at = heading.nextElementSibling; at && !/^H[123]$/.test(at.tagName); at = at.nextElementSibling) {
    text += " " + at.textContent;
  }
  return { id: heading.id, title: heading.textContent, text: text.toLowerCase() };
});

function show() {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (chapter) => asked.every((word) => chapter.text.includes(word));
  const inTitle = (chapter) => asked.filter((word) => chapter.title.toLowerCase().includes(word)).length;
  const fitting = asked.length === 0 ? [] : chapters.filter(fits);
  fitting.sort((a, b) => inTitle(b) - inTitle(a));
  found.replaceChildren(
    ...fitting.slice(0, AT_MOST).map((chapter) => {
      const link = document.createElement("a");
      link.href = "#" + chapter.id;
      link.textContent = chapter.title;
      const item = document.createElement("li");
      item.append(link);
      return item;
    }),
  );
}

words.addEventListener("input", show);
box.hidden = false;
