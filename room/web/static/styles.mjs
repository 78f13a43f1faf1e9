// xterm.js writes styles in two ways that this page's Content-Security-Policy has a browser refuse, unless they are done
// like this: elements named style get the page's nonce, and attributes named style are set by their property.
const nonce = document.documentElement.dataset.nonce;
const create = document.createElement.bind(document);
document.createElement = (name, options) => {
  const element = create(name, options);
  if (name === "style") element.nonce = nonce;
  return element;
};
const set = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === "style") this.style.cssText = value;
  else set.call(this, name, value);
};
